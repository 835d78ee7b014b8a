import type { Guide, KubernetesAudience } from './audience.ts';
import { inRepository } from './runbook.ts';
import { shellWord, verbWords } from './words.ts';

/** kubectl: Jobs made from the suspended twin of the CronJob. */
export function kubernetesGuide({ cronJob, namespace, tokenSecret = '' }: KubernetesAudience): Guide {
  const kubectl = namespace === undefined ? 'kubectl' : `kubectl -n ${shellWord(namespace)}`;
  return {
    runByHand(input) {
      // A Job has no terminal to ask at.
      const words = [...verbWords(input), ...(input.mode === 'enforce' ? ['--yes'] : [])];
      const given = shellWord(`DATAHUB_RETENTION_ARGS=${words.join(' ')}`);
      return `${kubectl} create job retention-$(od -An -N4 -tx4 /dev/urandom | tr -d ' ') --from=cronjob/${shellWord(`${cronJob}-manual`)} --dry-run=client -o yaml | kubectl set env --local -f - ${given} -o yaml | ${kubectl} create -f -`;
    },
    /** Replaces the Secret whole: `apply` would leave the token in an annotation, too. */
    storeToken() {
      const [name, key] = tokenSecret.split('/');
      if (!name || !key) return undefined;
      return `${kubectl} create secret generic ${shellWord(name)} --from-file=${shellWord(key)}=token.txt --dry-run=client -o yaml | ${kubectl} replace -f -`;
    },
    setPaused: (paused) => `${kubectl} patch cronjob ${shellWord(cronJob)} -p '{"spec":{"suspend":${paused}}}'`,
    runbook: inRepository,
    policies: 'in the policies file',
    otherLedger:
      'the release was moved to another namespace or another claim (ledger.existingClaim): pause the job, and install it where the records are',
    enforce: 'set the mode to enforce',
  };
}

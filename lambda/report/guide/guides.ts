import type { Audience, Guide } from './audience.ts';
import { awsGuide } from './aws.ts';
import { kubernetesGuide } from './kubernetes.ts';
import { machineGuide } from './machine.ts';
import { anchorOf } from './runbook.ts';

/** The guide of an audience; a runbook of its own comes before every other place. */
export function guideOf(audience: Audience): Guide {
  const { runbookUrl } = audience;
  const guide = guideOfKind(audience);
  return runbookUrl ? { ...guide, runbook: (section) => ({ url: `${runbookUrl}#${anchorOf(section)}` }) } : guide;
}

function guideOfKind(audience: Audience): Guide {
  switch (audience.kind) {
    case 'aws':
      return awsGuide(audience);
    case 'kubernetes':
      return kubernetesGuide(audience);
    case 'machine':
      return machineGuide(audience);
  }
}

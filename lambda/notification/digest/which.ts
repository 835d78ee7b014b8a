import type { Report } from '../../facts/report-schema.ts';
import { oneLine } from '../../facts/text.ts';

/** Which DataHub: the operator's name for it, and its host if that says more. */
export function dataHubOf({ stage, server }: Pick<Report, 'stage' | 'server'>): string {
  const name = oneLine(stage, 60);
  const host = oneLine(hostOf(server), 80);
  return host === '' || name === host || name === host.replace(/:\d+$/, '') ? name : `${name} (${host})`;
}

function hostOf(server: string | undefined): string {
  try {
    return server === undefined ? '' : new URL(server).host;
  } catch {
    return '';
  }
}

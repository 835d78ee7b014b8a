import { isObject, parseJson } from '../../lambda/gms/responses/json-value.ts';
import { oneLine } from '../../lambda/report/sentences/text.ts';

/** The version that a server names in `GET /config`, and what is known about it: for texts and suggestions only. */

/** @param body of the answer @returns such as `v1.3.0`; undefined from a server that does not name one */
export function versionIn(body: string): string | undefined {
  const config = parseJson(body);
  const versions = isObject(config) ? config['versions'] : undefined;
  const datahub = isObject(versions) ? versions['acryldata/datahub'] : undefined;
  const version = isObject(datahub) ? datahub['version'] : undefined;
  return typeof version === 'string' && version.trim() !== '' ? oneLine(version, 40) : undefined;
}

/** Major and minor number, as one that can be compared: 1.3 is 1003. */
function minorOf(version: string): number | undefined {
  const [, major, minor] = /^v?(\d{1,3})\.(\d{1,3})(?:\D|$)/.exec(version) ?? [];
  return major === undefined ? undefined : Number(major) * 1000 + Number(minor);
}

/** In 1.2 to 1.5 (we ran 1.3 and 1.5, and read the others) a reindex fails after the alias has moved. */
export const losesRowsByReindex = (version: string | undefined): boolean => {
  const minor = minorOf(version ?? '');
  return minor !== undefined && minor >= 1002 && minor <= 1005;
};

/** One paragraph for people; empty if the server does not name its version. */
export function versionRemark(version: string | undefined): string[] {
  if (version === undefined) return [];
  const minor = minorOf(version);
  const known = losesRowsByReindex(version)
    ? 'In releases 1.2 to 1.5 a truncation by reindexing fails after the alias has moved to a new, empty index: the rows are still in the old one. datahub-gc asks for such truncations once a day, unless truncate_indices is false.'
    : minor !== undefined && minor >= 1006 && minor < 2000
      ? 'Releases from 1.6 on leave an index without refreshes (refresh_interval -1) after a truncation by reindexing, so that counts stay as they were. datahub-gc asks for such truncations once a day, unless truncate_indices is false.'
      : minor !== undefined && minor < 11
        ? 'Releases before 0.11 ignore forceDeleteByQuery, and reindex if more than half of an index would go.'
        : '';
  const conflicts =
    minor !== undefined && minor >= 1003
      ? 'If its search engine is Elasticsearch 8 or 9, a delete stops at the first row that something else has changed: run at a quiet hour (the runbook says more: "Incomplete").'
      : '';
  return [['The server reports DataHub', `${version}.`, known, conflicts].filter((part) => part !== '').join(' ')];
}

/**
 * The address of docs/runbook.md in this version, derived from the repository in package.json.
 * @returns undefined if it names none, or if we do not know that host's URLs for a file at a tag
 */
export function runbookAddress(manifest: { version: string; repository?: unknown }): string | undefined {
  const { repository } = manifest;
  const given = typeof repository === 'string' ? repository : (repository as { url?: unknown } | undefined)?.url;
  if (typeof given !== 'string') return undefined;
  const [, host = 'github', path] =
    /^(?:(github|gitlab):)?([\w.-]+\/[\w./-]+)$/.exec(given) ??
    /^(?:git\+)?(?:https?|ssh|git):\/\/(?:[^/@]+@)?([\w.-]+)\/([\w./-]+?)(?:\.git)?\/?$/.exec(given) ??
    [];
  if (path === undefined) return undefined;
  const file = `v${manifest.version}/docs/runbook.md`;
  if (/^github(\.com)?$/.test(host)) return `https://github.com/${path}/blob/${file}`;
  if (host === 'gitlab') return `https://gitlab.com/${path}/-/blob/${file}`;
  return /(^|\.)gitlab\./.test(host) ? `https://${host}/${path}/-/blob/${file}` : undefined;
}

import { jobVersion } from '../../../version.ts';
import { type Child, Html, html } from './html.ts';
import { style, styleHash } from './style.ts';

/**
 * A whole page in one file. Its content security policy allows only this style: no scripts, no requests, whatever a
 * name in it says.
 */

const policy = `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'`;

export function document(title: string, body: Child): string {
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="datahub-retention ${jobVersion()}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`;
  return `<!doctype html>\n${page.text}`;
}

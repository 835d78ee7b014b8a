import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundles.ts';
import { propsText, tables, withTable } from './described.ts';
import { jsonSchemas } from './schemas.ts';

/** `npm run schemas`: writes everything that a test compares with the code's descriptions of fields and values. */
for (const [name, text] of Object.entries(jsonSchemas())) writeFileSync(join(root, name), text);
writeFileSync(join(root, 'infra/props/stage-props.ts'), propsText());
for (const [page, rows] of Object.entries(tables)) {
  writeFileSync(join(root, page), withTable(readFileSync(join(root, page), 'utf8'), rows()));
}

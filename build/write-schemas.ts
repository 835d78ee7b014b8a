import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundles.ts';
import { chartReadme, jsonSchemas, readmeText } from './schemas.ts';

/** `npm run schemas`: writes the schemas, and the chart's table of values, that a test compares with the code's. */
for (const [name, text] of Object.entries(jsonSchemas())) writeFileSync(join(root, name), text);
writeFileSync(join(root, chartReadme), readmeText());

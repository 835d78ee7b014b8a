import packageManifest from '../package.json' with { type: 'json' };

/** The parts of a CycloneDX document that we filter. */
export interface Bom {
  metadata: { component: { name: string } };
  components: { 'bom-ref': string; name: string; version: string; properties?: { name: string }[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/**
 * The bill of materials of the repository, in which npm marks everything as a development dependency, reduced to what
 * is in the bundles.
 * @param bundled `<name>@<version>` of the packages whose code is there
 */
export function bundledBom(all: Bom, bundled: ReadonlySet<string>): Bom {
  const components = all.components
    .filter(({ name, version }) => bundled.has(`${name}@${version}`))
    // It is in the bundle, whatever the manifest calls it.
    .map(({ properties = [], ...component }) => ({
      ...component,
      properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
    }));
  const own = packageManifest.name;
  const refs = new Set([`${own}@${packageManifest.version}`, ...components.map((component) => component['bom-ref'])]);
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  // npm names the component after the folder in which it was run.
  const metadata = { ...all.metadata, component: { ...all.metadata.component, name: own } };
  return { ...all, metadata, components, dependencies };
}

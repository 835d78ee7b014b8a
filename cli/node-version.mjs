// Before anything that an older Node cannot load: package.json has the same number, of which npm only warns.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 6)) {
  process.stderr.write(`This program needs Node 20.6 or newer, and this is Node ${process.versions.node}.\n`);
  process.exit(2);
}

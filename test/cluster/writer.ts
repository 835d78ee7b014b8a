import { configMaps } from '../../cli/ledgers/config-maps.ts';
import { kubernetesLedger } from '../../cli/ledgers/kubernetes-ledger.ts';
import { countUp } from '../support/count-up.ts';

const [url = '', namespace = '', token = '', times = '0'] = process.argv.slice(2);
await countUp(kubernetesLedger(configMaps({ url, namespace, token: () => token })), Number(times));

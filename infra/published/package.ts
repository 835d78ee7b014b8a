/** What the published package gives to an app: dist/construct.cjs. The first import refuses a peer that is too old. */
import './peer.ts';

export { DatahubRetention, type DatahubRetentionProps, type RetentionPolicy } from '../datahub-retention.ts';

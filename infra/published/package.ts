/** The published package's entry point: dist/construct.cjs. The first import rejects a peer that is too old. */
import './peer.ts';

export { DatahubRetention, type DatahubRetentionProps, type RetentionPolicy } from '../datahub-retention.ts';

/** The published package's entry point: dist/construct.cjs. The first import rejects a peer that is too old. */
import './peer.ts';

export { DatahubRetention, type IndexMetricOptions } from '../datahub-retention.ts';
export type { Alarms, DatahubRetentionProps, Functions } from '../props/construct-props.ts';
export type { RetentionPolicy } from '../props/stage-props.ts';

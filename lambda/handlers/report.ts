import { reportServices } from '../aws/report-services.ts';
import { type ReportEvent, report } from '../run/report.ts';

const services = reportServices();

/** Counts and publishes the report of a run. */
export const handler = (event: ReportEvent) => report(event, services(event.execution.name));

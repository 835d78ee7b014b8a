import type { Context } from 'aws-lambda';
import { reportServices } from '../aws/report-services.ts';
import { type ReportEvent, report } from '../run/report.ts';

const services = reportServices();

export const handler = (event: ReportEvent, context: Context) => report(event, services(event.execution.name, context));

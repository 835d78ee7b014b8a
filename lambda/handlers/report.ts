import type { Context } from 'aws-lambda';
import { reportServices } from '../aws/report-services.ts';
import { runIdOf } from '../run/input.ts';
import { type ReportEvent, report } from '../run/report.ts';

const services = reportServices();

export const handler = async (event: ReportEvent, context: Context) => report(event, services(runIdOf(event), context));

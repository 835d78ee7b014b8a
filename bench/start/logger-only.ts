import { Logger } from '@aws-lambda-powertools/logger';

const logger = new Logger({ serviceName: 'bench' });

export const handler = async () => logger.info('called');

/** The memory of nights has a name of its own, so that `history --stage prod` finds it without asking CloudFormation. */
export const nightsTableName = (stage: string): string => `datahub-retention-${stage}-nights`;

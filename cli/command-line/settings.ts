/** The settings that a stage file has and a command line does not, with the stage file's defaults. */
export const localSettings = { minRetentionDays: 7, maxRunHours: 12 } as const;

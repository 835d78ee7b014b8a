/** To be written. */
export const runNoise = async (_seed: number): Promise<boolean> => false;

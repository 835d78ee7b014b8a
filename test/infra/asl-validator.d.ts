declare module 'asl-validator' {
  interface AslValidation {
    isValid: boolean;
    errorsText(separator?: string): string;
  }
  const validate: (definition: unknown, options?: { checkPaths?: boolean; checkArn?: boolean }) => AslValidation;
  export default validate;
}

import packageJson from '../package.json' with { type: 'json' };

/** Of the program, as package.json says it. */
export const { version } = packageJson;

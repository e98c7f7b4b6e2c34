/** A small configuration that is right, to be changed by each test in one place. */

import { parseConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Environment } from '../../src/config/variables.ts';
import { ConfigError, formatProblem } from '../../src/errors.ts';

export const SERVICE = 'services: [{ name: main, baseUrl: "https://monitor.example.com/api", apiKey: key-1 }]';
export const CHANNELS = 'channels: { webhook: { allowHttp: false } }';
/** Two lines; what a test adds begins on line 3. */
export const SMALL = `${SERVICE}\n${CHANNELS}\n`;

export const read = (text: string, environment: Environment = {}): Config => parseConfig(text, 'c.yaml', environment);

/** The problems as `check` prints them; empty where the text is right. */
export const problemsOf = (text: string, environment: Environment = {}): string[] => {
  try {
    read(text, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem);
    throw error;
  }
};

/** `tocsin webhook verify`: whether a webhook that somebody received is as it was sent, and if not, why not. */
import { type Check, type Received, verifyWebhook } from '../channels/webhook/verify.ts';
import { UsageError } from '../errors.ts';
import { type Action, answer, type CommandContext, EXIT } from './context.ts';
import { readInputBytes, STANDARD_INPUT } from './input.ts';
import { durationOf } from './options.ts';
import { otherSecrets, possibleSecrets, type SecretOptions } from './webhook-secrets.ts';

interface VerifyOptions extends SecretOptions {
  body?: string;
  headers?: string;
  id?: string;
  timestamp?: string;
  signature?: string;
  url?: string;
  tolerance: string;
}

/** A header as HTTP writes it, also with the arrow that `curl -v` puts before it. */
const HEADER = /^(?:[<>] )?([\w!#$%&'*+.^`|~-]+):[\t ]*(.*?)[\t ]*$/;

/**
 * Skips what is no header, like the first line of a request. The body is what follows the blank line, if anything does:
 * Latin-1 keeps every byte of it in its place.
 */
const readRaw = (bytes: Buffer) => {
  const text = bytes.toString('latin1');
  const blank = /\r?\n[<>]?[\t ]*\r?\n/.exec(text);
  const headers = text
    .slice(0, blank?.index)
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, name, value = ''] = HEADER.exec(line) ?? [];
      return name === undefined ? [] : [[name.toLowerCase(), value] as const];
    });
  const bodyAt = blank === null ? bytes.length : blank.index + blank[0].length;
  return { headers: new Map(headers), body: bytes.subarray(bodyAt) };
};

const readReceived = async (options: VerifyOptions, context: CommandContext): Promise<Received> => {
  const { headers: source, body: file, id, timestamp, signature } = options;
  if (source === undefined && [id, timestamp, signature].includes(undefined)) {
    throw new UsageError('give --headers FILE, or --id, --timestamp and --signature');
  }
  if (source === STANDARD_INPUT && file === STANDARD_INPUT) {
    throw new UsageError('standard input is either the headers or the body');
  }
  const raw = readRaw(source === undefined ? Buffer.alloc(0) : await readInputBytes('--headers', source, context));
  const isWhole = file === undefined && raw.body.length > 0;
  if (file === undefined && !isWhole && source === STANDARD_INPUT) {
    throw new UsageError('the body is missing: name its file, or let it follow the headers');
  }
  const body = isWhole ? raw.body : await readInputBytes('the body', file ?? STANDARD_INPUT, context);
  const given = { id, timestamp, signature };
  const found = (['id', 'timestamp', 'signature'] as const).flatMap((key) => {
    const value = given[key] ?? raw.headers.get(`webhook-${key}`);
    return value === undefined ? [] : [[key, value.trim()]];
  });
  return { body, ...Object.fromEntries(found) };
};

const lineOf = ({ check, ok, detail }: Check): string => `${ok ? 'ok  ' : 'FAIL'}  ${check}: ${detail}\n`;

/** Ends with 2 where a check failed. */
export const verify: Action<VerifyOptions> = async (options, context) => {
  const toleranceMs = durationOf(options.tolerance, '--tolerance', '5m');
  const secrets = await possibleSecrets(options, context);
  const others = await otherSecrets(options, secrets, context);
  const received = await readReceived(options, context);
  const checks = verifyWebhook(received, { secrets, others, now: Date.now(), toleranceMs });
  const isValid = checks.every(({ ok }) => ok);
  const verdict = isValid ? 'valid' : 'not valid';
  answer(context, options, { valid: isValid, checks }, () => `${checks.map(lineOf).join('')}${verdict}\n`);
  return isValid ? EXIT.done : EXIT.finding;
};

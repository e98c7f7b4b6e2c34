/** Reads the fields of a form. */
import type { IncomingMessage } from 'node:http';

/** Forms of ours are much smaller. */
const MOST_BYTES = 16_384;

const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;

/** Undefined where it is no form, too large, or did not come whole. */
export const readForm = async (request: IncomingMessage): Promise<URLSearchParams | undefined> => {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    // Whoever asked has gone.
    return undefined;
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
};

/** Request bodies as the providers take them: JSON, a URL-encoded form, or multipart with files. */

import { isObject, type JsonObject, parseJson } from '../json.ts';
import type { Exchange } from '../listener.ts';

export interface FormFile {
  field: string;
  filename: string;
  contentType: string;
  content: Buffer;
}

export interface Form {
  /** From a form every value is text; from JSON it is the value that was sent. */
  fields: JsonObject;
  files: FormFile[];
}

const readMultipart = async (body: Buffer, contentType: string): Promise<Form> => {
  const form: Form = { fields: {}, files: [] };
  const bytes = new Uint8Array(body);
  const entries = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  for (const [field, value] of entries) {
    if (typeof value === 'string') form.fields[field] = value;
    else {
      const content = Buffer.from(await value.arrayBuffer());
      form.files.push({ field, filename: value.name, contentType: value.type, content });
    }
  }
  return form;
};

/** Undefined where the body is not what its content type says. An unnamed type is read as a URL-encoded form. */
export const readForm = async ({ headers, body }: Exchange): Promise<Form | undefined> => {
  const contentType = headers['content-type'] ?? 'application/x-www-form-urlencoded';
  if (contentType.startsWith('application/json')) {
    const value = parseJson(body.toString());
    return isObject(value) ? { fields: value, files: [] } : undefined;
  }
  if (contentType.startsWith('multipart/form-data')) return readMultipart(body, contentType).catch(() => undefined);
  return { fields: Object.fromEntries(new URLSearchParams(body.toString())), files: [] };
};

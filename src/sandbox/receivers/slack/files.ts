/** Slack's three-step upload: ask for a URL, send the bytes there, complete it into a channel. */
import { randomUUID } from 'node:crypto';
import { isObject, type JsonObject, parseJson } from '../../json.ts';

export interface SlackFile {
  fileId: string;
  filename: string;
  title?: string;
  content: Buffer;
}

interface Upload {
  fileId: string;
  filename: string;
  lengthBytes: number;
  content?: Buffer;
}

export interface SlackFiles {
  /** `files.getUploadURLExternal`: path of the upload, or Slack's error. */
  begin(fields: JsonObject): { path: string; fileId: string } | { error: string };
  /** The bytes themselves; false where the path or the announced length is wrong. */
  take(path: string, content: Buffer): boolean;
  /** `files.completeUploadExternal`: the files, or Slack's error. Each upload completes once. */
  complete(fields: JsonObject): SlackFile[] | { error: string };
}

/** Uploads that may wait for their completion; older ones are forgotten. */
const WAITING_MAX = 100;

export const createSlackFiles = (): SlackFiles => {
  const uploads = new Map<string, Upload>();

  const completeOne = (value: unknown): SlackFile | undefined => {
    const { id, title } = isObject(value as JsonObject) ? (value as JsonObject) : {};
    const upload = [...uploads.values()].find(({ fileId }) => fileId === id);
    if (!upload?.content) return undefined;
    const { fileId, filename, content } = upload;
    return { fileId, filename, content, ...(typeof title === 'string' && { title }) };
  };

  return {
    begin: ({ filename, length }) => {
      const lengthBytes = Number(length);
      if (typeof filename !== 'string' || filename === '') return { error: 'invalid_arguments' };
      if (!Number.isInteger(lengthBytes) || lengthBytes <= 0) return { error: 'invalid_arguments' };
      const token = randomUUID();
      const fileId = `F0${token.replaceAll('-', '').slice(0, 9).toUpperCase()}`;
      const path = `/upload/v1/${token}`;
      uploads.set(path, { fileId, filename, lengthBytes });
      const [oldest = ''] = uploads.keys();
      if (uploads.size > WAITING_MAX) uploads.delete(oldest);
      return { path, fileId };
    },
    take: (path, content) => {
      const upload = uploads.get(path);
      if (upload?.lengthBytes !== content.length) return false;
      upload.content = content;
      return true;
    },
    complete: ({ files }) => {
      const list = typeof files === 'string' ? parseJson(files) : files;
      if (!Array.isArray(list) || list.length === 0) return { error: 'invalid_arguments' };
      const found = list.map(completeOne);
      if (!found.every((file) => file !== undefined)) return { error: 'file_not_found' };
      const done = new Set(found.map(({ fileId }) => fileId));
      for (const [path, { fileId }] of uploads) if (done.has(fileId)) uploads.delete(path);
      return found;
    },
  };
};

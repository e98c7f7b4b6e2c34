/** The form in which Discord takes a file beside a message. Source: https://docs.discord.com/developers/reference#uploading-files */
import { contentId } from '../../../item.ts';
import type { DigestFile } from '../../digest-content.ts';

/** `name` is safe as a file name; the boundary is a digest of what stands between, which cannot contain it. */
export const formOf = (payload: string, { name, text }: DigestFile): { text: string; contentType: string } => {
  const boundary = `tocsin-${contentId('form', payload, text)}`;
  const part = (field: string, type: string, content: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; ${field}\r\ncontent-type: ${type}\r\n\r\n${content}\r\n`;
  const parts = [
    part('name="payload_json"', 'application/json', payload),
    part(`name="files[0]"; filename="${name}"`, 'text/plain; charset=utf-8', text),
  ];
  return { contentType: `multipart/form-data; boundary=${boundary}`, text: `${parts.join('')}--${boundary}--\r\n` };
};

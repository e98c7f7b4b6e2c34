/** Answers in HTML. */
import type { Answer } from '../answer.ts';
import { PAGE_POLICY } from './style.ts';

const HEADERS = { 'content-security-policy': PAGE_POLICY };

export const htmlAnswer = (code: number, body: string): Answer => ({
  code,
  type: 'text/html; charset=utf-8',
  body,
  headers: HEADERS,
});

/** The page of the queues, which `features/board` draws: who may see it is decided before, what it may do here. */
import { type Answer, type Asked, ONLY_READ, TEXT_TYPE } from '../answer.ts';

export const QUEUES = '/queues';

export interface QueueBoard {
  /** Below `/queues`. Undefined: it has nothing there. */
  show(path: string, query: URLSearchParams): Promise<Omit<Answer, 'headers'> | undefined>;
}

/** Its scripts come as files of this server, and colour a job's data in a worker; its parts are styled by script. */
const POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

export const isOfQueues = (path: string): boolean => path === QUEUES || path.startsWith(`${QUEUES}/`);

/** What would change something is refused here, before the board sees it. */
export const showQueues = async (board: QueueBoard, { path, query, request }: Asked): Promise<Answer> => {
  if (request.method !== 'GET' && request.method !== 'HEAD') return ONLY_READ;
  const answer = await board.show(path.slice(QUEUES.length), query);
  if (answer === undefined) return { code: 404, type: TEXT_TYPE, body: 'not found: try /queues\n' };
  return { ...answer, headers: { 'content-security-policy': POLICY } };
};

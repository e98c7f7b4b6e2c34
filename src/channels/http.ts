/** POST to addresses that came from outside: resolves, checks every address, dials what it checked, follows no redirect. */

export interface PostRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

export interface PostResponse {
  status: number;
  /** Lower-cased names. */
  headers: Record<string, string>;
  /** At most 16 KiB of the answer, decoded as UTF-8. */
  text: string;
}

/** Resolves for every HTTP status; throws a `DeliveryError` where there was no answer or the guard refused. */
export type GuardedPost = (request: PostRequest) => Promise<PostResponse>;

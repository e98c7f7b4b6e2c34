/** Telegram's limits of one message. */

/** UTF-16 units after entity parsing. Telegram counts whole characters, of which there are no more. */
export const TEXT_LIMIT = 4096;
/** The same for the caption of a file. Source: https://core.telegram.org/bots/api#senddocument */
export const CAPTION_LIMIT = 1024;
/** Telegram drops the entities beyond this number. */
export const ENTITIES_MAX = 100;
/** Quotes are entities themselves; a message of ours has three at most. */
export const QUOTES_MAX = 3;

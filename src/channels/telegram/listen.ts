/**
 * Presses of buttons on Telegram, by long polling: Telegram gives each update to one reader.
 * Source: https://core.telegram.org/bots/api#getupdates
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DeliveryError } from '../../errors.ts';
import { shorten } from '../../text.ts';
import type { Buttons, Listening, PressAnswer } from '../channel.ts';
import { objectIn } from '../content/foreign.ts';
import { isAt, isMember, isPrivateGroup, type PressedQuery, readData, readQuery, telegramButtons } from './buttons.ts';
import type { TelegramClient } from './client.ts';
import type { TelegramBody } from './message.ts';

const LONGEST_POLL_SECONDS = 25;
/** For the way there and back. */
const MARGIN_SECONDS = 5;
const BETWEEN_SHORT_POLLS_MS = 1000;
const ANSWER_LIMIT = 200;

const ONLY_MEMBERS = 'Only members of this chat can press here. Nothing was changed.';
const NOT_KNOWN =
  'Telegram does not say whether you are a member of this chat: the bot has to be an administrator in it.';

/** Such a person is in no such chat. Source: `Client.cpp` of tdlib/telegram-bot-api, and the server's words for the same */
const NOT_IN_IT = /(?:user|member|participant) not found|(?:participant|user)_id_invalid|user_not_participant/i;

const NOT_OURS: PressAnswer = { text: 'This button does not work any more. Nothing was changed.', isRefused: true };

/** A person who has left a group may still have its messages: what Telegram does not say just now proves nothing. */
const refusalAfter = (error: unknown, chat: PressedQuery['chat']): string | undefined => {
  if (!(error instanceof DeliveryError) || error.code !== '400') throw error;
  if (NOT_IN_IT.test(error.message)) return ONLY_MEMBERS;
  return isPrivateGroup(chat) ? undefined : NOT_KNOWN;
};

/** Telegram takes an answer for some seconds, and keeps presses for a day. Source: `Client.cpp` of tdlib/telegram-bot-api */
const isTooOld = (error: unknown): boolean =>
  error instanceof DeliveryError && error.code === '400' && /query is too old/i.test(error.message);

/** Nothing but `getUpdates` answers 409, so what it means is said here. */
const explained = (error: unknown): unknown => {
  if (!(error instanceof DeliveryError) || error.code !== '409') return error;
  const why = /webhook/i.test(error.message)
    ? 'a webhook is set on the bot, so its presses go there: remove the webhook, or give Tocsin a bot of its own'
    : 'another program reads the updates of the bot: give Tocsin a bot of its own';
  return new DeliveryError('sender-misconfigured', why, { code: '409' });
};

/**
 * Telegram's buttons, and the long polling by which presses arrive; its `listen` throws a `DeliveryError`. `timeoutMs`: of one
 * call, within which a long poll has to end.
 */
export const createTelegramButtons = (client: TelegramClient, timeoutMs: number): Buttons<TelegramBody> => {
  const call: TelegramClient['call'] = (method, payload, signal) =>
    client.call(method, payload, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
  const pollSeconds = Math.max(0, Math.min(LONGEST_POLL_SECONDS, Math.floor(timeoutMs / 1000) - MARGIN_SECONDS));

  /** In a private chat there are two; elsewhere Telegram is asked, as people of a public chat need not be in it. */
  const refusalOf = async ({ user, chat }: PressedQuery, signal: AbortSignal): Promise<string | undefined> => {
    if (chat.type === 'private') return user === chat.id ? undefined : ONLY_MEMBERS;
    try {
      const member = await call('getChatMember', { chat_id: chat.id, user_id: Number(user) }, signal);
      return isMember({ ...member }) ? undefined : ONLY_MEMBERS;
    } catch (error) {
      return refusalAfter(error, chat);
    }
  };

  const answer = async ({ id }: PressedQuery, { text, isRefused }: PressAnswer, signal: AbortSignal): Promise<void> => {
    const said = { callback_query_id: id, text: shorten(text, ANSWER_LIMIT), show_alert: isRefused };
    await call('answerCallbackQuery', said, signal);
  };

  /** Telegram shows one answer to a press: what follows it is a message for all, in words of ours alone. */
  const correct = async (
    { chat, messageId, topic }: PressedQuery,
    text: string,
    signal: AbortSignal,
  ): Promise<void> => {
    const sent = {
      ...{ chat_id: chat.id, text, reply_parameters: { message_id: messageId, allow_sending_without_reply: true } },
      ...(topic === undefined ? {} : { message_thread_id: topic }),
    };
    await call('sendMessage', sent, signal);
  };

  /** Gives what is still to be said to the person, and whether something else was said before, or may have been. */
  const press = async (query: PressedQuery, { onPress }: Listening, signal: AbortSignal) => {
    const data = readData(query.data);
    if (data === undefined) return { said: NOT_OURS, isCorrection: false };
    let isCorrection = false;
    const answerFirst = async (first: PressAnswer): Promise<boolean> => {
      try {
        isCorrection = true;
        await answer(query, first, signal);
      } catch (error) {
        if (!isTooOld(error)) throw error;
        isCorrection = false;
      }
      return isCorrection;
    };
    const said = await onPress({
      ...data,
      by: query.name,
      userId: query.user,
      isAt: (...at) => isAt(query, ...at),
      answerFirst,
      refusal: (aborted) => refusalOf(query, aborted),
    });
    return { said, isCorrection };
  };

  /** Each is answered, or the person's button spins for a minute; of a flood only the first ones. */
  const handle = async (update: unknown, listening: Listening, signal: AbortSignal): Promise<void> => {
    const query = readQuery(objectIn(update).callback_query);
    if (query === undefined) return;
    try {
      const { said, isCorrection } = await press(query, listening, signal);
      if (said === undefined) return;
      await (isCorrection ? correct(query, said.text, signal) : answer(query, said, signal));
    } catch (error) {
      // It came while nobody listened: what it asked for is done, and the person has long gone on.
      if (!isTooOld(error)) listening.onProblem(error);
    }
  };

  return {
    ...telegramButtons,
    listen: async (listening, signal) => {
      // Telegram keeps updates that nobody has confirmed for a day: an old one acknowledges, and mutes nothing.
      for (let offset = 0; !signal.aborted; ) {
        const wanted = { offset, timeout: pollSeconds, allowed_updates: ['callback_query'] as const };
        const updates = await call('getUpdates', wanted, signal).catch((error: unknown) => {
          if (signal.aborted) return [];
          throw explained(error);
        });
        if (signal.aborted) return;
        listening.onOpen();
        await Promise.all(updates.map((update) => handle(update, listening, signal)));
        offset = Math.max(offset, ...updates.map(({ update_id }) => update_id + 1));
        if (pollSeconds === 0) await sleep(BETWEEN_SHORT_POLLS_MS, undefined, { signal }).catch(() => {});
      }
    },
  };
};

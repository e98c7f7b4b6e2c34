/** The contract every channel kind fulfils. A channel composes and sends; it never retries, waits, queues or logs. */
import type { Alert, ChannelKind, Destination, Format, Parcel, SentInspections } from '../alert.ts';
import type { Sliced } from '../chunks.ts';
import type { ProxyFor } from '../connection/proxy-variables.ts';
import type { ChannelEntry } from '../item.ts';
import type { Growth, Line } from './content/content.ts';
import type { Presentation } from './content/presentation.ts';
import type { GuardedPost } from './http.ts';
import type { RateLimit } from './options.ts';

export const BUTTONS = ['acknowledge', 'mute'] as const;
export type ButtonName = (typeof BUTTONS)[number];

export interface Button {
  name: ButtonName;
  /** Plain text of ours. */
  label: string;
}

/** What stands below a message. */
export interface Annotation {
  /** Finds the message again when one of its buttons is pressed: letters, digits, `-` and `_`, 22 of them. */
  token: string;
  buttons: readonly Button[];
  /** `👀 Ann is on it`, which takes the place of the sign in the title: all of it is acknowledged. Plain text, not escaped. */
  lead?: string;
  /** Where and when somebody has acknowledged it, below the title. Not escaped. */
  note?: Line;
}

/** A press as the platform gives it, which has authenticated the person. */
export interface Press {
  name: ButtonName;
  /** From outside: anything may stand there. */
  token: string;
  /** The person, as the platform names it; not cleaned. */
  by: string;
  /** Of the person, on the platform. */
  userId: string;
  /** The message is the one of this handle. */
  isAt(destination: Destination, handle: string | undefined): boolean;
  /**
   * Tells the person before anything is done; an answer that follows corrects it. False where the platform takes none any
   * more, as the press was long ago. Throws a `DeliveryError`. Left out where old presses do not arrive.
   */
  answerFirst?(answer: PressAnswer): Promise<boolean>;
  /** Why this person may not press here, in a sentence; undefined where it may. */
  refusal?(signal: AbortSignal): Promise<string | undefined>;
}

export interface PressAnswer {
  /** A sentence for the person alone. */
  text: string;
  isRefused: boolean;
}

export interface Listening {
  /** Never rejects. Undefined: the person gets no answer, or has one. */
  onPress(press: Press): Promise<PressAnswer | undefined>;
  /** Presses arrive from now on. */
  onOpen(): void;
  /** Of what concerns one press and nobody waits for. */
  onProblem(error: unknown): void;
}

/** What a kind needs for messages with buttons. */
export interface Buttons<Body = unknown> {
  /** Messages to this address can have them. */
  areAt(address: string): boolean;
  /** The body with these below it; the same object where they find no place in it. Pure. */
  put(body: Body, annotation: Annotation): Body;
  /** As much of a body as `put` and `amend` need. Pure. */
  kept(body: Body): Body;
  /**
   * Receives presses, of all messages of the sender: at one place at a time. Resolves when the connection has ended, as it
   * does now and then, or `signal` aborts. Throws a `DeliveryError`.
   */
  listen(listening: Listening, signal: AbortSignal): Promise<void>;
}

export { FORMATS, type Format } from '../alert.ts';
export type { Growth } from './content/content.ts';

/** Digests in a row at one destination. */
export interface Storm {
  /** Of this digest, from 1. */
  message: number;
  /** With those of this digest. */
  alerts: number;
}

export interface ComposeContext {
  /** ISO 8601: the time of sending that people read. */
  sentAt: string;
  format: Format;
  /** How the config wants alerts to be worded. */
  presentation: Presentation;
  /** Which digest in a row a digest of these alerts is. Left out: the first. */
  storm?: Storm;
  /** What the destination has of the alerts' transactions, where it keeps incidents. Left out: it is not known. */
  sentInspections?: SentInspections;
  /** Of a message that takes the place of an earlier one. */
  grew?: Growth;
  /** So many of the alerts, from the first, people have heard of: a reply says what is new in the others. Left out: no reply. */
  heard?: number;
}

/** One thing to send. `body` is what the kind's transport takes. */
export interface Message<Body = unknown> {
  destination: Destination;
  /** The alerts that this message is about: all of them are delivered when it is. Never empty. */
  alerts: readonly Alert[];
  /** The same on every retry of the same alerts to the same destination. */
  id: string;
  body: Body;
  /** It summarizes more incidents than are sent one by one: the destination then rests. Decided by composing. */
  isDigest: boolean;
  /** Of a message in several parts: `progress` of the last part's receipt. */
  progress?: string;
  /** The `handle` of an earlier message to the same destination: send this one as a reply. A kind without threads ignores it. */
  replyTo?: string;
}

export interface Receipt {
  /** The provider's id of the message, if it gives one: Slack `ts`, Telegram `message_id`, SMTP Message-ID. */
  providerId?: string;
  /** More parts are left: the message is sent again with this. Each part has a send slot of its own. */
  progress?: string;
  /** How `replyTo` and `amend` find the message again; only its kind can read it. */
  handle?: string;
  /** The receiver had to be told nothing, so it was not asked: this says nothing of whether it works. */
  isUnsent?: true;
}

/**
 * People get several findings of one transaction as one message, and a digest of many. A tool that keeps incidents has one for
 * each transaction: what is composed for it depends on all that it has of one, and it hears who has acknowledged it.
 */
export type Reader = 'people' | 'programs' | 'incidents';

export interface Channel<Body = unknown> {
  kind: ChannelKind;
  /** Turns a parcel into messages, most urgent first. Pure, and in slices: a batch holds thousands of alerts. */
  compose(parcel: Parcel, context: ComposeContext): Sliced<Message<Body>[]>;
  /** A receipt from this address has a `handle`. Default: none has. */
  givesHandle?(address: string): boolean;
  /** Sends once, in the time that `signal` gives. Resolves when the provider accepted it; throws a `DeliveryError` otherwise. */
  send(message: Message<Body>, signal: AbortSignal): Promise<Receipt>;
  /**
   * Replaces an earlier message by `message`, without notifying anybody again. Left out where the kind cannot do it. Throws
   * a `DeliveryError`: `bad-message` if the earlier message cannot be changed (any more).
   */
  amend?(handle: string, message: Message<Body>, signal: AbortSignal): Promise<Receipt>;
  /** Who reads what is sent to this address. Default: as the kind is. */
  readerAt?(address: string): Reader;
  /** Buttons below messages. Left out where the kind has none, or its config lacks what presses come by. */
  buttons?: Buttons<Body>;
  /** The body with the URL of a page where its alerts can be acknowledged. Pure. Left out where a kind has buttons, or no readers. */
  withAcknowledgeLink?(body: Body, url: string): Body;
  /** Asks the provider whether we may send at all (token valid, server reachable); gives a sentence. Throws a `DeliveryError`. */
  verify(signal: AbortSignal): Promise<string>;
  /**
   * What the provider calls an address, for people: `#alerts` of `C024BE91L`. Undefined where it does not say. Left out where
   * addresses are names. Throws a `DeliveryError`.
   */
  nameOf?(address: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Asked after a failure that blames the sender: is it the sender's, or only this destination's? Default: the
   * sender's. Never throws.
   */
  isSenderFailure?(signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

/** What a channel entry names: addresses to send to, and what is wrong with its other contacts. */
export interface Addresses {
  addresses: string[];
  /** One sentence each, without secrets. */
  problems: string[];
}

export interface ChannelDependencies {
  /** POST through the guard, for addresses from outside. */
  post: GuardedPost;
  /** The proxy for a URL, where the kind's section names none. Default: none. */
  proxyFor?: ProxyFor;
  now(): number;
}

/** Opens what sending needs (pools, clients), without any request yet. */
export type CreateChannel<Config> = (config: Config, dependencies: ChannelDependencies) => Channel;

/** What an entry in the config's lists of channels needs. */
interface EntryRules {
  /** It names addresses by one of these keys. */
  keys: readonly ('contacts' | 'url')[];
  /** What its contacts are, for the help of that key. */
  contactsAre: string;
  /** What somebody has to do where it names none. */
  missing: string;
  /** Contacts that cannot be addresses; the rest is checked when alerts are routed. */
  contact?: { isPossible(contact: string): boolean; rule: string };
  /** The key of the kind's section without which contacts are of no use. */
  contactsNeed?: string;
}

/** What a person has answered to `tocsin init`, by the ids of the questions; `apiUrl`: of the provider's API, where it is another one than usual. */
export type SetupAnswers = Readonly<Record<string, string>>;

/** One answer that `tocsin init` asks for. Only what is asked has a name in its messages. */
export interface SetupQuestion {
  id: string;
  /** The answer, within a sentence: `the relay's host and port`. */
  name: string;
  /** As it is put, without colon. */
  text: string;
  /** Where the answer is found, or what mends it. Sentences. */
  todo: string;
  /** The option that answers it. */
  option?: { name: 'service' | 'to' | 'smtp' | 'smtpUser' | 'smtpTls' | 'from'; flag: string };
  /** The variable that holds it, as it is a secret. */
  variable?: string;
  /** It is typed unseen. */
  isHidden?: true;
  /** What an empty answer stands for. */
  standard?: string;
  /** How answers look, to notice one that belongs elsewhere. */
  like?: RegExp;
  /** What is wrong with an answer, to go on from the question's name; undefined where nothing is. */
  rule?(answer: string): string | undefined;
  /** Failures in which these words stand are this answer's. */
  blamedBy?: RegExp;
  /** Nothing can be tried by it alone. */
  isUntried?: true;
  /** Left out: it is always asked. */
  isDue?(answers: SetupAnswers): boolean;
  /** It is asked only where a failure blames it: most people can do without. */
  onlyWhenBlamed?: true;
}

/** What `tocsin init` asks for a kind, and what it writes. */
interface Setup {
  /** As a heading. */
  title: string;
  /** What all its messages hang on. Left out: nothing. */
  hangsOn?: string;
  /** Of its section of the config, in order. */
  questions: readonly SetupQuestion[];
  /** Of one address. */
  address: Omit<SetupQuestion, 'id' | 'option'>;
  /** Its addresses come from outside: which private ones may be sent to is in its section. */
  isGuarded?: true;
  /** A secret that nobody is asked for. */
  made?: { variable: string; make(): string };
  /**
   * The kind's section in YAML, two spaces in. `quoted`: a text in which nothing is replaced; `secret`: a variable;
   * `allowed`: URLs that are no public https ones, and are sent to.
   */
  linesOf(
    answers: SetupAnswers,
    writing: { quoted(text: string): string; secret(name: string): string; allowed: readonly string[] },
  ): string[];
}

/** Composes as the channel would, with neither config nor provider's library. One body for each message. */
export type ComposePreview = (
  parcel: Parcel,
  context: ComposeContext,
  options: { annotation?: Annotation | undefined; webhookFormat: string },
) => unknown[];

/** The certificates of a section. */
export interface Certificates {
  ca?: string | undefined;
  cert?: string | undefined;
}

/** One kind of channel, as the registry lists it: everything that can be known of it without sending. */
export interface ChannelModule<Config> {
  kind: ChannelKind;
  /** All its destinations as people read it: `every Slack channel`; what is so where none can be sent to; and what one is, before its name. */
  words: { every: string; none: string; place: string };
  entry: EntryRules;
  /** The addresses that an entry of this kind names. Pure and strict: anything that may be no address is a problem. */
  addressesOf(entry: ChannelEntry): Addresses;
  /** The address without its secrets, as people may see it. */
  labelOf(address: string): string;
  /** Addresses that differ only in upper and lower case are the same. */
  ignoresCase: boolean;
  /** A receiver can refuse all further messages for good; its destination is then disabled. */
  canBeDisabled: boolean;
  /** Other addresses are sent to by the same sender (a token, a mail server), which has a rate of its own. */
  sharesSender(address: string): boolean;
  /** The key of the config that says what that sender is. */
  senderKey: string;
  /** The rate of one address, where the platform distinguishes addresses. Default: what the config says. */
  rateOf?(address: string, configured: RateLimit): RateLimit;
  /** The address whose rate this one shares, where the platform counts several as one. Default: its own. */
  sharesRateWith?(address: string): string;
  /**
   * How readers acknowledge: by a button below the message, which may need a key of the kind's section; or by a link in a
   * message that cannot be changed afterwards. Left out: they cannot.
   */
  acknowledgedBy?: { way: 'button'; key?: string } | { way: 'link' };
  setup: Setup;
  /** `email by smtp.example.com:587`, for people who check a config. */
  summaryOf(config: Config): string;
  /** Every part of the section that may have certificates, by its path in it; empty for the section itself. */
  connectionsOf(config: Config): [path: string, certificates: Certificates][];
  preview: {
    /** An address that nobody has. */
    address: string;
    load(): Promise<ComposePreview>;
  };
  /** Loads what sends, its provider's library included, which takes time and memory. */
  load(): Promise<CreateChannel<Config>>;
}

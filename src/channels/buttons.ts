/** Buttons below a message, and presses of them. */
import type { Destination } from '../alert.ts';

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
  /** Who has acknowledged it; plain text, not escaped. */
  note?: string;
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

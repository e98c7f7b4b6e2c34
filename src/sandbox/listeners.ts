/** Functions that are called with each event. */
interface Listeners<Event> {
  /** Gives a function that ends it. */
  add(listener: (event: Event) => void): () => void;
  emit(event: Event): void;
}

export const createListeners = <Event>(): Listeners<Event> => {
  const listeners = new Set<(event: Event) => void>();
  return {
    add: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
  };
};

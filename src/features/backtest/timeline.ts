/** One clock, and what happens by it in order of time. */

interface Event {
  /** Epoch milliseconds. */
  at: number;
  /** Which of one moment comes first. */
  order: number;
  run(): Promise<void>;
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** The earlier one of the two events below `index` in a heap, by its index; undefined where there is none. */
const earlierBelow = (heap: readonly Event[], index: number): number | undefined => {
  const left = 2 * index + 1;
  const [one, other] = [heap[left], heap[left + 1]];
  if (one === undefined) return undefined;
  return other !== undefined && isBefore(other, one) ? left + 1 : left;
};

/** A binary heap: what a backlog of a hundred thousand jobs costs must not grow with it. */
const createHeap = () => {
  const heap: Event[] = [];

  const moveUp = (event: Event, from: number): void => {
    let index = from;
    for (let up = (index - 1) >> 1; index > 0; up = (index - 1) >> 1) {
      const parent = heap[up];
      if (parent === undefined || isBefore(parent, event)) break;
      heap[index] = parent;
      index = up;
    }
    heap[index] = event;
  };

  const moveDown = (event: Event): void => {
    let index = 0;
    for (let below = earlierBelow(heap, index); below !== undefined; below = earlierBelow(heap, index)) {
      const child = heap[below];
      if (child === undefined || isBefore(event, child)) break;
      heap[index] = child;
      index = below;
    }
    heap[index] = event;
  };

  return {
    push: (event: Event): void => moveUp(event, heap.length),
    shift: (): Event | undefined => {
      const [first] = heap;
      const last = heap.pop();
      if (last !== undefined && heap.length > 0) moveDown(last);
      return first;
    },
  };
};

export const createTimeline = () => {
  const events = createHeap();
  let clock = 0;
  let orders = 0;

  const nextOrder = (): number => {
    orders += 1;
    return orders;
  };

  return {
    /** Epoch milliseconds. */
    now: (): number => clock,
    /** A place among the events of one moment: in the order in which the places were given. */
    nextOrder,
    add: (at: number, run: Event['run'], order = nextOrder()): void => events.push({ at, order, run }),
    /** Resolves when nothing is left to happen. */
    run: async (): Promise<void> => {
      for (let event = events.shift(); event; event = events.shift()) {
        clock = Math.max(clock, event.at);
        await event.run();
      }
    },
  };
};

export type Timeline = ReturnType<typeof createTimeline>;

/** An outage of which nobody has to hear any more: the rest of it says what is wrong. */
export const TOLD = { text: '', said: { text: 'a destination is broken', fields: {} }, isAnnounced: true };

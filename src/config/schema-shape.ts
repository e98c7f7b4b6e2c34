/** Which keys there are and what belongs to each, as the schema has it. */
import { inputJsonSchema } from './schema.ts';
import { createShape } from './shape.ts';

export const shape = createShape(inputJsonSchema());

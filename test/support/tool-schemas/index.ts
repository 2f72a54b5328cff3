import { codeSchemas } from "./code.ts";
import { dataSchemas } from "./data.ts";
import { generatedSchemas } from "./generated.ts";
import { officeSchemas } from "./office.ts";
import { placeSchemas } from "./places.ts";
import { pydanticSchemas } from "./pydantic.ts";

/** Schemas of tools as people and generators write them, in the style of well-known public ones. */
export const toolSchemas = [
  ...codeSchemas,
  ...officeSchemas,
  ...placeSchemas,
  ...dataSchemas,
  ...generatedSchemas,
  ...pydanticSchemas,
];

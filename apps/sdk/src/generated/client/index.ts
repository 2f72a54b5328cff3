// This file is generated from openapi/openapi.json by `npm run generate`. Do not edit it.
// @ts-nocheck: a runtime that is copied as it is, and not written for exactOptionalPropertyTypes.

export type { Auth } from '../core/auth.gen.ts';
export type { QuerySerializerOptions } from '../core/bodySerializer.gen.ts';
export {
  formDataBodySerializer,
  jsonBodySerializer,
  urlSearchParamsBodySerializer,
} from '../core/bodySerializer.gen.ts';
export { buildClientParams } from '../core/params.gen.ts';
export { serializeQueryKeyValue } from '../core/queryKeySerializer.gen.ts';
export { createClient } from './client.gen.ts';
export type {
  Client,
  ClientOptions,
  Config,
  CreateClientConfig,
  Options,
  RequestOptions,
  RequestResult,
  ResolvedRequestOptions,
  ResponseStyle,
  TDataShape,
} from './types.gen.ts';
export { createConfig, mergeHeaders } from './utils.gen.ts';

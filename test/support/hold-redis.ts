// A program that starts a Redis and never ends by itself.
import { startRedis } from "./redis.ts";

const { pid } = await startRedis();
console.log(`redis-server is ${pid}`);

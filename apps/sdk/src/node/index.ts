// What `@tandem/sdk/node` offers: what needs Node.
export { imageFromFile } from "./image-from-file.ts";

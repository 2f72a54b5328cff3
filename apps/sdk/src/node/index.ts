// What `@tandem/sdk/node` offers: what needs Node.
export { fileJournal } from "./file-journal.ts";
export { imageFromFile } from "./image-from-file.ts";

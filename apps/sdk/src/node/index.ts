// What `@tandem/sdk/node` offers: what needs Node.
export { fileJournal } from "./file-journal.ts";

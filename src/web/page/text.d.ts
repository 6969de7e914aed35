/// <reference lib="dom" />
declare module "*.svg" {
  const text: string;
  export default text;
}

/** The page's modules bring the browser's types into the program; Bun's own streams can still do this. */
interface ReadableStream<R> {
  text(): Promise<string>;
}

declare module "*.yaml" {
  const text: string;
  export default text;
}

declare module "*.txt" {
  const text: string;
  export default text;
}

declare module "*.md" {
  const text: string;
  export default text;
}

declare module "*.sh" {
  const text: string;
  export default text;
}

declare module "*.py" {
  const text: string;
  export default text;
}

declare module "*.rb" {
  const text: string;
  export default text;
}

declare module "*.php" {
  const text: string;
  export default text;
}

declare module "*.pm" {
  const text: string;
  export default text;
}

declare module "*.erl" {
  const text: string;
  export default text;
}

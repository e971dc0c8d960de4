/** Files that the bundler embeds: the default export is a path that `Bun.file` opens. */
declare module '*.tar.zst' {
  const path: string
  export default path
}

declare module '@electric-sql/pglite/*.wasm' {
  const path: string
  export default path
}

declare module '@electric-sql/pglite/pglite.data' {
  const path: string
  export default path
}

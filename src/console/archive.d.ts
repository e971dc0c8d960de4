/** Archives that src/dev builds; the import is the path to read one from. */
declare module '*/console.tar' {
  const path: string
  export default path
}
declare module '*/docs.tar' {
  const path: string
  export default path
}

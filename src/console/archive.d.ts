/** Made by src/dev/console.ts; the import is the path to read it from. */
declare module '*/console.tar' {
  const path: string
  export default path
}

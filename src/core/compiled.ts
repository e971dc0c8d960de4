/** Whether this is the executable and not the source: then the runtime shows what is in it below a path of its own. */
export const isCompiled = /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/.test(import.meta.path)

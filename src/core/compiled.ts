/** Whether this is the executable and not the source: then the runtime shows its contents below its own path. */
export const isCompiled = /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/.test(import.meta.path)

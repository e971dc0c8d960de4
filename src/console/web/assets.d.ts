/** Stylesheets, which the build collects. */
declare module '*.css'

/** Where the operations are, relative to the origin of the service. */
export const SERVER = '/v1'

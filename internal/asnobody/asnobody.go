// Package asnobody lets tests see what is forbidden to users, where root runs them: to root nothing is.
package asnobody

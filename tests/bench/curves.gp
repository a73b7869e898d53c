# Three plots over each other for bench_curves.sh: gap, error of F, test RMSE against time. id, names and solvers are set.
set terminal pngcairo size 900,1200
set output 'curve-'.id.'.png'
set datafile separator "\t"
set datafile commentschars '#'
set multiplot layout 3,1 title names noenhanced
set grid
set key noenhanced
set xlabel 'seconds'
file(s) = 'curve-'.id.'-'.s.'.tsv'
set logscale xy
set format y '10^{%T}'
set ylabel 'relative gap'
plot for [s in solvers] file(s) using (column("time_s")):(column("gap") > 0 ? column("gap") : 1/0) with linespoints title s
set ylabel 'relative error of F'
plot for [s in solvers] file(s) using (column("time_s")):(column("true_error") > 1e-9 ? column("true_error") : 1/0) with linespoints title s
unset logscale y
set format y '%g'
set ylabel 'test RMSE'
plot for [s in solvers] file(s) using (column("time_s")):(column("test_rmse") < 1.5 ? column("test_rmse") : 1/0) with linespoints title s
unset multiplot
